# Prints a receipt: the amounts that it reads, and their sum.
amounts=$(cat)
echo "$amounts"
echo "sum $(echo "$amounts" | sh till/sum.sh)"
