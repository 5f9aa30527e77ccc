# Completion of acre for bash: `acre complete` says what can be written.

_acre() {
    local words=() fragment=${COMP_WORDS[COMP_CWORD]} index answer
    # bash takes "--stacks=unwind" for three words, and replaces only the last of them.
    for ((index = 1; index <= COMP_CWORD; index++)); do
        if ((${#words[@]})) && [[ ${COMP_WORDS[index]} == [=:]* || ${words[-1]} == *[=:] ]]; then
            words[-1]+=${COMP_WORDS[index]}
        else
            words+=("${COMP_WORDS[index]}")
        fi
    done
    [[ $fragment == [=:]* ]] && fragment=
    local before=${words[-1]%"$fragment"}
    mapfile -t answer < <("$1" complete -- "${words[@]}" 2>/dev/null)
    COMPREPLY=()
    case ${answer[0]-} in
        list)
            compopt -o nospace 2>/dev/null
            _acre_words ;;
        words) _acre_words ;;
        trace)
            _acre_files '!*.acre'
            ((${#COMPREPLY[@]})) || _acre_files ;;
        file) _acre_files ;;
        program) _acre_program ;;
    esac
}

# The words of the answer that begin as the last word does.
_acre_words() {
    local line
    for line in "${answer[@]:1}"; do
        line=${line%%$'\t'*}
        [[ $line == "$before$fragment"* ]] && COMPREPLY+=("${line#"$before"}")
    done
}

# Folders and files; without those of the pattern, if there is one.
_acre_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$fragment"; compgen -f ${1:+-X "$1"} -- "$fragment" |
        while IFS= read -r file; do [ -d "$file" ] || printf '%s\n' "$file"; done)
}

# As if the line began with the program to record.
_acre_program() {
    local start=1
    while [[ ${COMP_WORDS[start]} != -- ]]; do ((start++)); done
    ((start++))
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$start"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$start"
    elif ((COMP_CWORD == start)) && [[ $fragment != */* ]]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$fragment"; compgen -c -- "$fragment")
    else
        _acre_files
    fi
}

complete -F _acre acre
