// For each condition of the prover a damage that shows what it is there for: `run` compiles this against a copy of the prover in which
// conditions can be left out. Without the condition the damage goes unnoticed, or a correct plan is refused, or the prover reads outside
// of its tables; or, where nothing but the name of a flaw depends on it, the flaw has another name.
//   search WANTED RANDOM_GRAPHS PAIRS TRIES SEED   prints a line for each condition: its number, a word, the damage
// WANTED: a 1 for each condition that is searched for, or a 0. TRIES: of how many damages of one kind to one plan it is left out.
#include "switched.hpp"

#include "support/damage.hpp"
#include "support/field_damage.hpp"
#include "support/subjects.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace support;

namespace {

enum class shown : char { nothing, renamed, unnoticed, refused, outside };
constexpr const char* words[] = {"nothing", "renamed", "unnoticed", "refused", "outside"};

constexpr int kinds = 2048;  // of damages, as far as they are told apart
struct condition {
    shown how = shown::nothing;
    char damage[240] = {};
    unsigned char of_kind[kinds] = {};  // tries with the subject at hand
};
// Shared with the process that searches, which ends where a prover without a condition reads outside of its tables.
struct progress {
    long at = 0;         // the damage
    int left_out = -1;   // the condition
    char damage[240] = {};
    condition of[1000];
};

// What the prover says, and whether the compiler would take the plan: it does not look at the order for itself.
struct answer {
    dv::plan::flaw what = {}, as_compiled = {};
    bool proven = false;

    bool operator==(const answer&) const = default;
};
answer ask(const subject& damaged) {
    const subject s = damaged;  // in arrays behind which there is nothing more
    answer a;
    a.what = a.as_compiled = s.all().what;
    if (a.what == dv::plan::flaw::edge_backward)
        a.as_compiled =
            dv::plan::prove_ordered_roles(dv::ir::view(s.graph), dv::ir::view(s.program), dv::ir::view(s.plan), 0, s.program.roles).what;
    a.proven = a.as_compiled == dv::plan::flaw::none;
    return a;
}

class search {
public:
    search(progress& to, std::string_view wanted, int tries, long from)
        : to_{to}, wanted_{wanted}, conditions_{static_cast<int>(wanted.size())}, tries_{tries}, from_{from}, matters_(wanted.size()) {
        switched::matters = matters_.data();
    }

    // Looks at one damaged subject; `correct`: none at all. `kind`: conditions are left out of only so many damages of one kind.
    template <class Name>
    void look_at(const subject& s, bool correct, int kind, Name name) {
        const long at = count_++;
        if (at < from_) return;
        to_.at = at;
        std::fill(matters_.begin(), matters_.end(), 0);
        const answer whole = ask(s);
        if (correct && !whole.proven) {
            std::printf("a plan that is refused: %s, %s\n", name().c_str(), name_of(whole.what));
            std::exit(1);
        }
        const std::vector<unsigned char> matters = matters_;
        for (int n = 0; n < conditions_; ++n) {
            condition& c = to_.of[n];
            if (wanted_[static_cast<std::size_t>(n)] == '0' || matters[static_cast<std::size_t>(n)] == 0 || c.how > shown::renamed)
                continue;
            unsigned char& of_kind = c.of_kind[kind % kinds];
            if (of_kind >= tries_) continue;
            ++of_kind;
            std::snprintf(to_.damage, sizeof to_.damage, "%s", name().c_str());
            to_.left_out = switched::left_out = n;
            alarm(10);
            const answer without = ask(s);
            alarm(0);
            to_.left_out = switched::left_out = -1;
            if (without == whole) continue;
            const shown how = without.proven && !whole.proven   ? shown::unnoticed
                              : !without.proven && whole.proven ? shown::refused
                                                                : shown::renamed;
            if (how <= c.how) continue;
            c.how = how;
            std::snprintf(c.damage, sizeof c.damage, "%s", to_.damage);
        }
    }

    // False where nothing is left to search for.
    bool look_at_all(const named_subject& x, int pairs) {
        for (int n = 0; n < conditions_; ++n) std::fill(std::begin(to_.of[n].of_kind), std::end(to_.of[n].of_kind), 0);
        look_at(x.whole, true, 0, [&] { return x.name; });
        int kind = 1;
        for (const damage& d : damages)
            for (int site = 0; site < 40; ++site) {
                subject s = x.whole;
                if (!d.apply(s, site)) break;
                look_at(s, false, kind + site / 5, [&] { return x.name + ": " + d.name + " at site " + std::to_string(site); });
                kind += site == 0 ? 8 : 0;
            }
        for (const table& t : tables) {
            subject longer = x.whole, shorter = x.whole;
            if (t.rows(x.whole) == 0) continue;
            t.lengthen(longer);
            look_at(longer, false, ++kind, [&] { return x.name + ": the last row of " + t.name + " twice"; });
            t.shorten(shorter);
            look_at(shorter, false, ++kind, [&] { return x.name + ": without the last row of " + t.name; });
        }
        const auto change = [&](const changes& c) {
            subject s = x.whole;
            apply(s, c);
            look_at(s, false, kind + c[0].field * 13 + c.back().row, [&] { return x.name + ": " + name_of(x.whole, c); });
        };
        each_change(x.whole, change);
        kind += 500;
        chooser r{mix(static_cast<word>(pairs) + x.name.size())};
        for (int i = 0; i < pairs; ++i) change(any_pair(x.whole, r));
        for (int n = 0; n < conditions_; ++n)
            if (wanted_[static_cast<std::size_t>(n)] != '0' && to_.of[n].how <= shown::renamed) return true;
        return false;
    }

private:
    progress& to_;
    std::string_view wanted_;
    int conditions_, tries_;
    long from_, count_ = 0;
    std::vector<unsigned char> matters_;
};

}  // namespace

int main(int, char** arguments) {
    const auto number = [&](int i) { return static_cast<int>(std::strtol(arguments[i], nullptr, 10)); };
    const std::string_view wanted = arguments[1];
    const int random_graphs = number(2), pairs = number(3), tries = number(4), seed = number(5);
    void* const shared = mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    progress& all = *new (shared) progress;
    long from = 0;
    for (bool again = true; again;) {
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            search s{all, wanted, tries, from};
            for (const hand_made& x : wrong_by_hand) s.look_at(x.make(), false, 0, [&] { return std::string(x.name); });
            bool more = true;
            for (auto* const plans : {&hand_subjects, &sample_subjects})
                for (const named_subject& x : plans())
                    if (more) more = s.look_at_all(x, pairs);
            for (int i = 0; i < random_graphs && more; ++i) more = s.look_at_all(random_subject(static_cast<word>(seed), i), pairs);
            std::_Exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        again = status != 0;
        if (!again) break;
        if (all.left_out < 0) return 1;  // nothing was left out
        condition& c = all.of[all.left_out];
        c.how = shown::outside;
        std::memcpy(c.damage, all.damage, sizeof c.damage);
        all.left_out = -1;
        from = all.at;
    }
    for (int n = 0; n < static_cast<int>(wanted.size()); ++n)
        std::printf("%d\t%s\t%s\n", n, words[static_cast<int>(all.of[n].how)], all.of[n].damage);
    return 0;
}
