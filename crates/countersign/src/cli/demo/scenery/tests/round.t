. tests/tap.sh
is "a half goes down to the even cent" "$(sh till/round.sh 125)" 12
is "a half goes up to the even cent" "$(sh till/round.sh 135)" 14
is "more than a half goes up" "$(sh till/round.sh 126)" 13
over
