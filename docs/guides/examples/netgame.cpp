// A program for `jurado play netgame --with`: plays perfectly, remembering who wins each set of whole cells.
// g++ -O2 -o netgame netgame.cpp
#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

using Set = unsigned long long;

std::unordered_map<Set, bool> known;  // set of whole cells: does the player to move win?
std::vector<Set> cuts;  // for each rope the cells it is a side of

bool wins(Set whole) {
    auto entry = known.find(whole);
    if (entry != known.end()) return entry->second;
    bool won = false;
    for (Set cut : cuts)
        if (cut & whole && !wins(whole & ~cut)) { won = true; break; }
    return known[whole] = won;
}

int main() {
    std::string game, player, word;
    int lines, ropes;
    std::cin >> game >> player >> lines >> ropes;
    std::map<std::array<int, 4>, int> number;
    std::vector<std::array<int, 4>> net;
    for (int i = 0; i < ropes; i++) {
        std::array<int, 4> r;
        for (int& each : r) std::cin >> each;
        if (std::make_pair(r[0], r[1]) > std::make_pair(r[2], r[3])) r = {r[2], r[3], r[0], r[1]};
        number[r] = i;
        net.push_back(r);
    }
    cuts.assign(ropes, 0);
    int count = 0;
    for (auto [x, y, x2, y2] : net) {
        std::array<int, 4> sides[4] = {{x, y, x + 1, y}, {x, y + 1, x + 1, y + 1}, {x, y, x, y + 1}, {x + 1, y, x + 1, y + 1}};
        bool whole = x2 == x + 1;
        for (auto& side : sides) whole = whole && number.count(side);
        if (!whole) continue;
        for (auto& side : sides) cuts[number[side]] |= 1ULL << count;
        count++;
    }
    Set whole = (1ULL << count) - 1;
    for (int read = ropes + 1; read < lines; read++) {  // a line `cut ...`, where some ropes are cut already
        std::getline(std::cin >> std::ws, word);
        for (size_t at = 4; at < word.size(); at = word.find(' ', at) == std::string::npos ? word.size() : word.find(' ', at) + 1)
            whole &= ~cuts[std::stoi(word.substr(at)) - 1];
    }
    while (std::cin >> word && word != "end") {
        int rope = 0;
        if (word == "move") {
            std::cin >> rope;
            rope--;
        } else {
            for (int i = 0; i < ropes; i++)
                if (cuts[i] & whole && (!(cuts[rope] & whole) || !wins(whole & ~cuts[i]))) rope = i;
            std::cout << rope + 1 << std::endl;  // endl flushes
        }
        whole &= ~cuts[rope];
    }
}
