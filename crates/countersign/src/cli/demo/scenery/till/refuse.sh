# Ends with 1 if this is no amount.
case $1 in *[!0-9]* | '') exit 1 ;; esac
