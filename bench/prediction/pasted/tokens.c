/* Reads expressions into trees and computes them: C, with one pair of functions for all memory. FOLLOWED: with the code
   of its advice. */
#ifdef FOLLOWED
#include <acre.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FOLLOWED
static acre_arena* evaluate_arena;
static void* evaluate_malloc(size_t bytes) {  // no free
    if (evaluate_arena == NULL)
        evaluate_arena =
            acre_arena_create(&(acre_arena_options){.first_block_bytes = 2048, .max_block_bytes = 1048576});
    return acre_arena_allocate(evaluate_arena, bytes, bytes % 16 == 0 ? 16 : 8);
}
static void evaluate_reset(void) {
    acre_arena_reset(evaluate_arena, ACRE_KEEP_ALL);
}  // call it in evaluate, after the last use
#define malloc evaluate_malloc
#endif

static void* take(size_t bytes) {
    void* p = malloc(bytes);
    if (p == NULL) abort();
    return p;
}
struct node {
    char operation;
    long value;
    struct node* left;
    struct node* right;
    char* text;
};

static const char* at;

static char* copy_of(const char* text, size_t length) {
    char* copy = take(length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

static void give(void* p) {
#ifdef FOLLOWED
    (void)p;
#else
    free(p);
#endif
}

static struct node* read_sum(void);

static struct node* read_number(void) {
    struct node* made = take(sizeof *made);
    const char* begin = at;
    if (*at == '(') {
        ++at;
        give(made);
        made = read_sum();
        ++at;
        return made;
    }
    made->value = strtol(at, (char**)&at, 10);
    made->operation = 0;
    made->left = made->right = NULL;
    made->text = copy_of(begin, (size_t)(at - begin));
    return made;
}

static struct node* read_sum(void) {
    struct node* left = read_number();
    while (*at == '+' || *at == '*') {
        struct node* made = take(sizeof *made);
        made->operation = *at;
        made->text = copy_of(at++, 1);
        made->value = 0;
        made->left = left;
        made->right = read_number();
        left = made;
    }
    return left;
}

static long compute(const struct node* of) {
    if (of->operation == 0) return of->value;
    const long left = compute(of->left);
    const long right = compute(of->right);
    return of->operation == '+' ? left + right : left * right % 1000003;
}

#ifndef FOLLOWED
static void drop(struct node* of) {
    if (of == NULL) return;
    drop(of->left);
    drop(of->right);
    give(of->text);
    give(of);
}
#endif

static long evaluate(const char* text) {
    at = text;
    struct node* tree = read_sum();
    const long result = compute(tree);
#ifdef FOLLOWED
    evaluate_reset();
#else
    drop(tree);
#endif
    return result;
}

int main(void) {
    static const char* const expressions[] = {
        "12+34*(5+6*7+(8*9+10)*11)+12*(13+14)", "1*2*3*4*5*6*7*8*9+(10+11+12+13+14)*15",
        "((1+2)*(3+4)+(5+6)*(7+8))*((9+10)*(11+12)+13)", "100000+200000*3+(4+5)*(6+7)*(8+9)*(10+11)"};
    long sum = 0;
    for (int i = 0; i < 300000; ++i) sum += evaluate(expressions[i % 4]);
    printf("%ld\n", sum);
    return 0;
}
