/* Two games in plain C, written by hand: the limit that compiled rules are measured against (`piste bench --peers`).
 *
 * Nothing plays with this. Decisions are random, and the generator is the one of `compiled/kernels.py`. A step is a
 * card that is drawn or a decision, as everywhere in the benchmarks. Each function plays some games, adds up how many
 * of them the first player won, and returns the number of steps. Zero Sum Duel is there twice: with cards as sets, as
 * the rules have them, and with cards in arrays, where a drawn one is replaced by the last.
 */
#include <stdint.h>

static uint32_t words[2];

static uint32_t rotated(uint32_t x, int by) {
    return x << by | x >> (32 - by);
}

static uint32_t random_bits(void) {
    uint32_t sum = words[0] + words[1], mixed = words[0] ^ words[1];
    words[0] = rotated(words[0], 26) ^ mixed ^ mixed << 9;
    words[1] = rotated(mixed, 13);
    return sum;
}

static void start_generator(uint64_t seed) {
    words[0] = (uint32_t)seed | 1;
    words[1] = (uint32_t)(seed >> 32) ^ 0x9e3779b9u;
}

static uint32_t random_below(uint32_t n) {
    return (uint32_t)((uint64_t)random_bits() * n >> 32);
}

enum { CARDS = 40, TARGET = 50 };

static const uint64_t PRIMES = 1ull << 2 | 1ull << 3 | 1ull << 5 | 1ull << 7 | 1ull << 11 | 1ull << 13 | 1ull << 17 |
                               1ull << 19 | 1ull << 23 | 1ull << 29 | 1ull << 31 | 1ull << 37 | 1ull << 41 |
                               1ull << 43 | 1ull << 47;

/* Cards that were drawn stand behind those that were not: when none is left, all are there again. */
static int draw(uint8_t *cards, int *left) {
    if (*left == 0) *left = CARDS;
    uint32_t at = random_below((uint32_t)*left);
    uint8_t card = cards[at];
    cards[at] = cards[--*left];
    cards[*left] = card;
    return card;
}

int64_t prime_duel(int64_t games, uint64_t seed, int64_t *first_wins) {
    int64_t steps = 0;
    start_generator(seed);
    for (int64_t game = 0; game < games; game++) {
        uint8_t cards[CARDS];
        int left = CARDS, seat = 0, score[2] = {0, 0};
        for (int i = 0; i < CARDS; i++) cards[i] = (uint8_t)(i % 10 + 1);
        while (1) {
            int kept = 0, card = draw(cards, &left);
            steps++;
            if (score[seat] + card <= TARGET) {
                kept = random_bits() >> 31;
                steps++;
            }
            if (!kept) {
                card = draw(cards, &left);
                steps++;
            }
            int after = score[seat] + card;
            if (after > TARGET) {
                seat ^= 1;
                continue;
            }
            score[seat] = after;
            if (after == TARGET) break;
            if (!(PRIMES >> after & 1)) seat ^= 1;
        }
        *first_wins += seat == 0;
    }
    return steps;
}

enum { HAND = 3, TOP = 5 };

int64_t zero_sum_duel_arrays(int64_t games, uint64_t seed, int64_t *first_wins) {
    int64_t steps = 0;
    start_generator(seed);
    for (int64_t game = 0; game < games; game++) {
        int8_t stacks[2][2 * TOP], hands[2][HAND + 1];
        int8_t *deck = stacks[0], *pile = stacks[1];
        int in_deck = 0, in_pile = 0, seat = 1, held[2] = {0, 0}, sum[2] = {0, 0};
        for (int card = -TOP; card <= TOP; card++)
            if (card) deck[in_deck++] = (int8_t)card;
        do {
            seat ^= 1;
            if (in_deck == 0) {
                int8_t *empty = deck;
                deck = pile, in_deck = in_pile;
                pile = empty, in_pile = 0;
            }
            uint32_t at = random_below((uint32_t)in_deck);
            int8_t *hand = hands[seat];
            sum[seat] += hand[held[seat]++] = deck[at];
            deck[at] = deck[--in_deck];
            steps++;
            if (held[seat] > HAND) {
                at = random_below(HAND + 1);
                sum[seat] -= pile[in_pile++] = hand[at];
                hand[at] = hand[--held[seat]];
                steps++;
            }
        } while (sum[seat] != 0);
        *first_wins += seat == 0;
    }
    return steps;
}

static int nth_member(uint32_t set, uint32_t n) {
    while (n--) set &= set - 1;
    return __builtin_ctz(set);
}

int64_t zero_sum_duel(int64_t games, uint64_t seed, int64_t *first_wins) {
    static const int VALUES[2 * TOP] = {-5, -4, -3, -2, -1, 1, 2, 3, 4, 5};
    int64_t steps = 0;
    start_generator(seed);
    for (int64_t game = 0; game < games; game++) {
        uint32_t deck = (1u << 2 * TOP) - 1, pile = 0, hands[2] = {0, 0};
        int seat = 1, sum[2] = {0, 0};
        do {
            seat ^= 1;
            if (deck == 0) {
                deck = pile;
                pile = 0;
            }
            int card = nth_member(deck, random_below((uint32_t)__builtin_popcount(deck)));
            deck ^= 1u << card;
            hands[seat] |= 1u << card;
            sum[seat] += VALUES[card];
            steps++;
            if (__builtin_popcount(hands[seat]) > HAND) {
                card = nth_member(hands[seat], random_below(HAND + 1));
                hands[seat] ^= 1u << card;
                pile |= 1u << card;
                sum[seat] -= VALUES[card];
                steps++;
            }
        } while (sum[seat] != 0);
        *first_wins += seat == 0;
    }
    return steps;
}
