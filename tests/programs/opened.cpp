// A program that links no HIP library and opens one while it runs: no soname of its own says which version it is for. Prints what
// hipRuntimeGetVersion gives.
#include <cstdio>
#include <dlfcn.h>

int main(int count, char **arguments) {
    if (count != 2) {
        return 2;
    }
    void *const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const auto get = reinterpret_cast<int (*)(int *)>(dlsym(library, "hipRuntimeGetVersion"));
    int version = 0;
    if (get == nullptr || get(&version) != 0) {
        return 1;
    }
    std::printf("%d\n", version);
    return 0;
}
