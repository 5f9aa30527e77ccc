# Types each line into a zsh on a terminal of its own, and the tabulator; prints what is shown, and the line that is then
# there in <>.
# Usage: zsh -f complete.zsh FOLDER_OF_COMPLETIONS LINE...
zmodload zsh/zpty || exit 1

# Prints what the terminal shows, up to and with the given words.
show_until() {
    local shown part
    until [[ $shown == *$1* ]]; do
        zpty -r acre part || exit 1
        shown+=$part
    done
    print -r -- $shown
}

zpty acre "TERM=dumb COLUMNS=200 PS1='ready ' zsh -f -i"
zpty -w acre "fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -D -u; setopt no_beep; LISTMAX=0"
zpty -w acre "show-line() { zle -I; print -r -- \"<\$BUFFER>\"; BUFFER=; print -r -- line''-shown; }"
zpty -w acre "zle -N show-line; bindkey '^X' show-line; print set''-up"
show_until set-up >/dev/null
for line in "${@[2,-1]}"; do
    zpty -w -n acre "$line"$'\t\C-x'
    show_until line-shown
done
zpty -d acre
