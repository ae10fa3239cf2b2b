// The last treat, plain: the listing's O(K) list of Wythoff's pairs, or the closed form in 128-bit integers.
//
//   lasttreat list|formula < input > answer        the seconds without reading and writing go to standard error
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

using Number = long long;
using Wide = unsigned __int128;

static Number root(Wide square) {
    Wide guess = (Wide)std::sqrt((long double)square);
    while (guess * guess > square) guess--;
    while ((guess + 1) * (guess + 1) <= square) guess++;
    return (Number)guess;
}

static Number lower(Number n) { return (Number)(((Wide)n + (Wide)root((Wide)n * n * 5)) / 2); }

static Number partner_by_formula(Number number) {
    if (number == 0) return 0;
    Number quotient = lower(number) - number;
    return lower(quotient + 1) == number ? number + quotient + 1 : quotient;
}

struct List {
    std::vector<Number> partner, lowers;

    explicit List(Number most) : partner(most + 1, -1), lowers(most + 2, -1) {
        Number n = 0;
        for (Number at = 0; at <= most; at++) {
            if (partner[at] >= 0) continue;
            lowers[n] = at;
            if (at + n <= most) {
                partner[at] = at + n;
                partner[at + n] = at;
            }
            n++;
        }
    }
};

static std::pair<Number, Number> move(Number r, Number s, Number partner_r, Number partner_s, Number straight) {
    Number small = r < s ? r : s;
    if (straight >= 0 && straight < small) return {small - straight, small - straight};
    if (partner_s >= 0 && partner_s < r) return {r - partner_s, 0};
    if (partner_r >= 0 && partner_r < s) return {0, s - partner_r};
    return {0, 0};
}

int main(int count, char **words) {
    bool by_list = count > 1 && std::strcmp(words[1], "list") == 0;
    int t;
    if (std::scanf("%d", &t) != 1) return 2;
    std::vector<Number> a(t), b(t), k(t);
    Number most = 0;
    for (int i = 0; i < t; i++) {
        if (std::scanf("%lld %lld %lld", &a[i], &b[i], &k[i]) != 3) return 2;
        if (k[i] > most) most = k[i];
    }
    auto begun = std::chrono::steady_clock::now();
    std::vector<std::pair<Number, Number>> moves(t);
    List list(by_list ? most : 0);
    for (int i = 0; i < t; i++) {
        Number r = a[i] % (k[i] + 1), s = b[i] % (k[i] + 1), d = r < s ? s - r : r - s;
        moves[i] = by_list ? move(r, s, list.partner[r], list.partner[s], list.lowers[d])
                           : move(r, s, partner_by_formula(r), partner_by_formula(s), lower(d));
    }
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
    for (auto &taken : moves) std::printf("%lld %lld\n", taken.first, taken.second);
    std::fprintf(stderr, "%.9f\n", passed.count());
}
