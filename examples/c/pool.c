// Nodes of a tree from a pool: made and freed one by one, and what is left at the end is known.
#include <acre.h>
#include <stdio.h>

struct node {
    int key;
    struct node* left;
    struct node* right;
};

static void insert(acre_pool* nodes, struct node** tree, int key) {
    while (*tree != NULL) tree = key < (*tree)->key ? &(*tree)->left : &(*tree)->right;
    *tree = acre_pool_allocate(nodes);
    if (*tree != NULL) **tree = (struct node){.key = key};
}

// Takes the smallest key out of the tree.
static int take_smallest(acre_pool* nodes, struct node** tree) {
    while ((*tree)->left != NULL) tree = &(*tree)->left;
    struct node* smallest = *tree;
    const int key = smallest->key;
    *tree = smallest->right;
    acre_pool_free(nodes, smallest);
    return key;
}

int main(void) {
    acre_pool* nodes = acre_pool_create(sizeof(struct node), NULL);
    struct node* tree = NULL;
    for (int i = 0; i < 10; ++i) insert(nodes, &tree, i * 7 % 10);
    for (int i = 0; i < 4; ++i) printf("%d, ", take_smallest(nodes, &tree));
    printf("and %zu nodes are left\n", acre_resource_usage(acre_pool_resource(nodes)).live);
    acre_pool_destroy(nodes);

    // Sizes that vary: a multi-pool is told the size when it frees.
    acre_multi_pool* texts = acre_multi_pool_create(NULL);
    char* text = acre_multi_pool_allocate(texts, 100, 0);
    snprintf(text, 100, "any size, in any order");
    puts(text);
    acre_multi_pool_free(texts, text, 100, 0);
    acre_multi_pool_destroy(texts);
    return 0;
}
