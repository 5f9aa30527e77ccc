// A source to compile the headers with that tests/CMakeLists.txt has precompiled.
