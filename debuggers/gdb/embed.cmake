# Writes gdb_printers.hpp, which has the text of acre.py in it as lines of an assembler, to the file ACRE_GDB_PRINTERS.
# The build includes this file; by hand: cmake -D ACRE_GDB_PRINTERS=FILE -P debuggers/gdb/embed.cmake
file(READ ${CMAKE_CURRENT_LIST_DIR}/acre.py printers)
string(REPLACE "\\" "\\\\" printers "gdb.inlined-script-acre\n${printers}")
string(REPLACE "\"" "\\\"" printers "${printers}")
string(REPLACE "\n" "\\n\"\n.ascii \"" printers ".ascii \"${printers}")
# What the last line's end began.
string(REGEX REPLACE "[.]ascii \"$" "" printers "${printers}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/gdb_printers.hpp.in ${ACRE_GDB_PRINTERS} @ONLY)
