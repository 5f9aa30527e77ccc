// The document of the JSON libraries: 700 KB of objects with texts, numbers and lists, as a web service sends them.
#pragma once

#include <string>

namespace acre_bench {

inline std::string json_text() {
    std::string text = "[";
    unsigned random = 7;
    for (int i = 0; i < 2500; ++i) {
        random = random * 1'664'525 + 1'013'904'223;
        const std::string number = std::to_string(i);
        if (i != 0) text += ",";
        text += R"({"id":)" + std::to_string(random) + R"(,"name":"user)" + number +
                R"(","text":"some message of a user that is longer than a short string )" + number + R"(","ok":)" +
                (i % 2 == 0 ? "true" : "false") + R"(,"score":)" + std::to_string(random % 1000) +
                R"(.5,"tags":["a","bb","ccc"],"at":{"x":1,"y":2,"place_of_the_event_in_words":null},)" +
                R"("list":[1,2,3,4,5,6,7,8]})";
    }
    return text + "]";
}

}  // namespace acre_bench
