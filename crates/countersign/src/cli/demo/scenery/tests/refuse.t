. tests/tap.sh
says() { sh till/refuse.sh "$1" && echo yes || echo no; }
is "an amount passes" "$(says 120)" yes
is "a word is refused" "$(says many)" no
is "a negative amount is refused" "$(says -5)" no
over
