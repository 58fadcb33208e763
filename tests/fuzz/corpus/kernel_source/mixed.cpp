#include "pto/pto-inst.hpp"
#if defined(__DAV_CUBE__) && LEVEL >= 2 // why
#define N 4
namespace a { static AICORE void aux(int x) { f("(", '{', R"x(})x"); } }
AICORE void k_aic(__gm__ const bfloat16_t *restrict a, int32_t n) { if (n) { g(1'000); } }
#else
AICORE void k_aiv(__gm__ bfloat16_t *a, int32_t n, float) {}
#endif
