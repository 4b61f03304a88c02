. tests/tap.sh
is "the sum stands at the end" "$(printf '120\n80\n' | sh till/receipt.sh)" "$(printf '120\n80\nsum 200')"
over
