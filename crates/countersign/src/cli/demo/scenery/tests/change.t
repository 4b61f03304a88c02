. tests/tap.sh
is "change is given in few coins" "$(sh till/change.sh 68)" "50 10 5 2 1"
is "no change is no coin" "$(sh till/change.sh 0)" ""
over
