// A source to compile the headers with that CMakeLists.txt has precompiled.
