// libxml2 on acre: documents are read and changed, memory is limited, and every request may fail.
#include <gtest/gtest.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xpath.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/libxml2.hpp>
#include <string>

#include "hooks/each_request_fails.hpp"

namespace {

using acre_test::checking_upstream;

void say_nothing(void*, const char*, ...) {}

// Before all else, as a program's main would.
class libxml2_on_acre : public testing::Environment {
public:
    void SetUp() override {
        {
            // What libxml2 keeps for the program does not lie in a scope's arena, which ends before it.
            acre::arena first;
            const acre::use_resource use{first};
            ASSERT_TRUE(acre::use_in_libxml2());
            xmlInitParser();
            EXPECT_EQ(first.used(), 0u);
        }
        xmlSetGenericErrorFunc(nullptr, say_nothing);
        // What libxml2 makes once and keeps.
        xmlFreeDoc(xmlReadDoc(BAD_CAST "<warm id='up'>&amp;</warm>", nullptr, nullptr, 0));
        xmlResetLastError();
    }
    void TearDown() override { xmlCleanupParser(); }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new libxml2_on_acre);

std::string a_document() {
    std::string text = "<?xml version='1.0'?><list>";
    for (int i = 0; i < 50; ++i) {
        text +=
            "<item id='" + std::to_string(i) + "' kind='kind " + std::to_string(i % 7) + "'>a text &amp; more</item>";
    }
    return text + "</list>";
}

constexpr int options = XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET;

// The number of items that XPath finds after one was added; -1 without memory.
int read_and_change(const std::string& text) {
    xmlDocPtr document = xmlReadMemory(text.data(), static_cast<int>(text.size()), "test.xml", nullptr, options);
    int found = -1;
    if (document != nullptr) {
        const bool added = xmlNewTextChild(xmlDocGetRootElement(document), nullptr, BAD_CAST "item", BAD_CAST "new");
        if (xmlXPathContextPtr context = xmlXPathNewContext(document)) {
            if (xmlXPathObjectPtr items = xmlXPathEvalExpression(BAD_CAST "//item", context)) {
                if (added && items->nodesetval != nullptr) found = items->nodesetval->nodeNr;
                xmlXPathFreeObject(items);
            }
            xmlXPathFreeContext(context);
        }
        xmlFreeDoc(document);
    }
    // The last error, which libxml2 keeps for the thread, is a text from this scope.
    xmlResetLastError();
    return found;
}

template <class R>
class libxml2 : public testing::Test {};
using resources = testing::Types<acre::heap, acre::arena, acre::multi_pool, checking_upstream>;
TYPED_TEST_SUITE(libxml2, resources);

TYPED_TEST(libxml2, reads_in_a_scope) {
    TypeParam memory;
    const acre::use_resource use{memory};
    EXPECT_EQ(read_and_change(a_document()), 51);
}

TEST(libxml2_document, is_freed_by_the_end_of_an_arena) {
    const std::string text = a_document();
    for (int round = 0; round < 3; ++round) {
        acre::arena request;
        const acre::use_resource use{request};
        xmlDocPtr document = xmlReadMemory(text.data(), static_cast<int>(text.size()), "test.xml", nullptr, options);
        ASSERT_NE(document, nullptr);
        EXPECT_TRUE(request.owns(document));
    }
}

TEST(libxml2_document, may_be_freed_outside_of_its_scope) {
    acre::multi_pool memory;
    xmlDocPtr document = nullptr;
    {
        const acre::use_resource use{memory};
        const std::string text = a_document();
        document = xmlReadMemory(text.data(), static_cast<int>(text.size()), "test.xml", nullptr, options);
    }
    EXPECT_TRUE(memory.owns(document));
    xmlFreeDoc(document);
    EXPECT_EQ(memory.live(), 0u);
}

TEST(libxml2_document, a_limited_parse_fails) {
    acre::limited<acre::multi_pool> memory{{.limit_bytes = 20'000}};
    const acre::use_resource use{memory};
    EXPECT_EQ(read_and_change(a_document()), -1);
}

// Without XPath: with libxml2's own malloc, too, that of 2.9.14 leaks when one request fails, and crashes at another.
TEST(libxml2_document, each_request_fails) {
    const std::string text = a_document();
    acre_test::each_request_fails([&](checking_upstream& memory) {
        const acre::use_resource use{memory};
        xmlDocPtr document = xmlReadMemory(text.data(), static_cast<int>(text.size()), "test.xml", nullptr, options);
        if (document != nullptr) {
            xmlNodePtr list = xmlDocGetRootElement(document);
            const bool added = xmlNewTextChild(list, nullptr, BAD_CAST "item", BAD_CAST "new") != nullptr;
            EXPECT_TRUE(added || memory.failures() != 0);
            const unsigned long items = xmlChildElementCount(list);
            EXPECT_TRUE(memory.failures() != 0 || items == 51) << items;
            xmlFreeDoc(document);
        } else {
            EXPECT_NE(memory.failures(), 0u);
        }
        xmlResetLastError();
    });
}

}  // namespace
