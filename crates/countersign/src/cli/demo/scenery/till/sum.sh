# Adds amounts up, one on each line.
sum=0
while read -r amount; do
    sum=$((sum + amount))
done
echo "$sum"
