# Tests in the Test Anything Protocol: `is NAME FOUND WANTED` for each, `over` at the end. What stands in tests/skip is skipped.
count=0 bad=0
echo "TAP version 13"

is() {
    count=$((count + 1))
    if [ -f tests/skip ] && grep -qxF "$1" tests/skip; then
        echo "ok $count - $1 # SKIP"
    elif [ "$2" = "$3" ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        echo "# found '$2', wanted '$3'"
        bad=1
    fi
}

over() {
    echo "1..$count"
    exit "$bad"
}
