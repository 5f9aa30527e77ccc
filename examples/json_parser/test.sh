#!/bin/sh
# Valid documents are printed without spaces. Invalid ones are reported with line, column and one sentence.
set -u
parser=$1
folder=$(mktemp -d) || exit 1
trap 'rm -r "$folder"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# good DOCUMENT EXPECTED_OUTPUT, the document as printf takes it
good() {
    # shellcheck disable=SC2059 # the document is the format
    printed=$(printf "$1" | "$parser" 2>&1) || fail "'$1' is refused: $printed"
    [ "$printed" = "$2" ] || fail "'$1' is printed as '$printed', not as '$2'"
}

# bad DOCUMENT LINE:COLUMN:_SENTENCE
bad() {
    # shellcheck disable=SC2059
    message=$(printf "$1" | "$parser" 2>&1)
    status=$?
    [ $status -eq 1 ] || fail "'$1' should be refused: status $status, $message"
    [ "$message" = "standard input:$2" ] || fail "'$1' is refused as '$message', not as '$2'"
}

# repeated COUNT TEXT
repeated() { awk -v n="$1" -v text="$2" 'BEGIN { while (n-- > 0) printf "%s", text }'; }

good 'null' 'null'
good ' \t\r\n true ' 'true'
good '[]' '[]'
good '{ }' '{}'
good '[1, -0.5, 1e3, 0, 12.75E-2]' '[1,-0.5,1000,0,0.1275]'
good '{"orc": "Ugluk", "wounds": [3, {"deep": true}], "elf": null}' '{"orc":"Ugluk","wounds":[3,{"deep":true}],"elf":null}'
good '[[1, [2, 3], []], [4, [5]], 6]' '[[1,[2,3],[]],[4,[5]],6]'
good '"a \\"quoted\\" word, \\\\ and \\/ and \\n"' '"a \"quoted\" word, \\ and / and \u000a"'
good '"\\u0041\\u00e9\\u20ac\\ud83d\\ude00"' '"Aé€😀"'
good '"é€😀"' '"é€😀"'
good '{"": "", "": 2}' '{"":"","":2}'
good "$(repeated 500 '[')$(repeated 500 ']')" "$(repeated 500 '[')$(repeated 500 ']')"
numbers=$(repeated 20000 '1234567,')0
good "[$numbers]" "[$numbers]"
words=$(repeated 3000 'a long word ')
good "[\"$words\", \"$words\"]" "[\"$words\",\"$words\"]"

bad '' '1:1: expected a value, found the end of the document'
bad '[1, 2' "1:6: expected ',' or ']', found the end of the document; the '[' at line 1, column 1 is open"
bad '{\n  "orcs": [1, 2}\n}' "2:16: expected ',' or ']', found '}'; the '[' at line 2, column 11 is open"
bad '[1 2]' "1:4: expected ',' or ']', found '2'; the '[' at line 1, column 1 is open"
bad '[1,]' "1:4: expected a value, found ']'"
bad '[,1]' "1:2: expected a value, found ','"
bad '{"a" 1}' "1:6: expected ':' after the name of a member, found '1'"
bad '{"a": 1, b: 2}' "1:10: expected the name of a member, in quotes, found 'b'"
bad '{"a": 1,}' "1:9: expected the name of a member, in quotes, found '}'"
bad '["é", é]' "1:7: expected a value, found 'é'"
bad '"open' '1:6: a text is not closed before the end of the document; it began at line 1, column 1'
bad '[\n "two\nlines"]' '2:6: a text is not closed before the end of the line; it began at line 2, column 2'
bad '"\\x"' "1:2: there is no such escape as \\ with 'x'"
bad '"\\' '1:2: there is no such escape as \ with the end of the document'
bad '"\\u12"' '1:4: expected four hexadecimal digits after \u'
bad '"\\ud83d"' '1:2: half a pair of surrogates'
bad '"\\ude00\\ud83d"' '1:2: half a pair of surrogates'
bad 'trve' '1:1: expected a value; did you mean true?'
bad '01' "1:2: the document is complete, but then there is '1'"
bad '-' '1:2: expected a digit, found the end of the document'
bad '1.' '1:3: expected a digit, found the end of the document'
bad '[1e+]' "1:5: expected a digit, found ']'"
bad '[nan]' '1:2: expected a value; did you mean null?'
bad '1e999' '1:1: a number that is too large or too small'
bad '{} {}' "1:4: the document is complete, but then there is '{'"
bad "$(repeated 100000 '[')" '1:501: nested more than 500 deep'

# Several documents use one arena in turn. An invalid one does not affect the next.
echo '[1, 2' >"$folder/wrong"
echo '{"a": [1, 2]}' >"$folder/right"
printed=$("$parser" "$folder/right" "$folder/wrong" "$folder/right" 2>/dev/null)
[ $? -eq 1 ] || fail "a wrong document among right ones should be status 1"
[ "$(printf '%s\n' "$printed" | grep -cFx '{"a":[1,2]}')" -eq 2 ] || fail "both right documents should be printed"
"$parser" "$folder/missing" 2>/dev/null && fail "a file that is missing was accepted"
[ $? -eq 2 ] || fail "a file that is missing should be status 2"
"$parser" --help | grep -q '^Usage' || fail "--help does not say how to use it"
