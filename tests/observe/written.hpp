// The output of a function that writes to a file, as a string.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace acre_test {

template <class Function>
std::string written(Function function) {
    std::FILE* file = std::tmpfile();
    if (file == nullptr) {
        ADD_FAILURE() << "no temporary file";
        return {};
    }
    function(file);
    std::rewind(file);
    std::string text;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text.push_back(static_cast<char>(c));
    std::fclose(file);
    return text;
}

}  // namespace acre_test
