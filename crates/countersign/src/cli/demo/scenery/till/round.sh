# Rounds tenths of a cent to cents, half to even.
cents=$(($1 / 10)) rest=$(($1 % 10))
if [ "$rest" -gt 5 ] || { [ "$rest" -eq 5 ] && [ $((cents % 2)) -eq 1 ]; }; then
    cents=$((cents + 1))
fi
echo "$cents"
