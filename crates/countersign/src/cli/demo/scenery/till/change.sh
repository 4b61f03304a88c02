# Gives change in as few coins as possible.
left=$1 coins=
for coin in 200 100 50 20 10 5 2 1; do
    while [ "$left" -ge "$coin" ]; do
        left=$((left - coin)) coins="$coins $coin"
    done
done
echo "${coins# }"
