. tests/tap.sh
is "two amounts are added" "$(printf '120\n80\n' | sh till/sum.sh)" 200
is "nothing comes to nothing" "$(sh till/sum.sh </dev/null)" 0
over
