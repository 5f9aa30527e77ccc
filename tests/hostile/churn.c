// Allocates and frees: the program that the environments of the table are put around.
// Usage: churn [PAIRS [STATUS]]
#include "hazard.h"

int main(int count, char** arguments) {
    churn(count > 1 ? atoi(arguments[1]) : 100);
    say("churned\n");
    return count > 2 ? atoi(arguments[2]) : 0;
}
