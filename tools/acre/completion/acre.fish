# Completion of acre for fish: `acre complete` says what can be written.

function __acre_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer ($words[1] complete -- $words[2..-1] $current 2>/dev/null)
    switch "$answer[1]"
        case words list
            printf '%s\n' $answer[2..-1]
        case trace
            set -l files (__acre_files $current)
            # Traces first.
            string match -r -- '.*\.acre$' $files
            printf '%s\n' $files
        case file
            __acre_files $current
        case program
            set -l start (math (contains -i -- -- $words) + 1)
            complete -C (string join -- ' ' (string escape -- $words[$start..-1]) "$current")
    end
end

# Files, also behind "--option="; fish knows them for a command that it knows nothing of.
function __acre_files
    set -l option (string match -r -- '^--[^=]*=' $argv[1])
    set -l name (string replace -r -- '^--[^=]*=' '' $argv[1])
    for line in (complete -C "__acre_without_completion $name")
        echo -- "$option"(string replace -r -- '\t.*' '' $line)
    end
end

complete -c acre -f -k -a '(__acre_complete)'
