// Every field of every row of program and plan is changed, one at a time and two at a time, on plans made by hand, of the samples and
// of random graphs: each change is refused by the prover, or the simulator finds nothing wrong with what comes of it. The same of the
// damages that take more than two fields.
//   damaged [--count N] [--seed S] [--only K] [--share P]     N random graphs, or graph K alone; P per cent of the samples' changes of one field
// Under a sanitizer all but the changes of one field of the plans made by hand are a tenth where they are not given.
#include "support/damage.hpp"
#include "support/field_damage.hpp"
#include "support/how_many.hpp"
#include "support/subjects.hpp"

#include <dovetail/observe/text.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

namespace {

using namespace support;

struct counts {
    long changed = 0, refused = 0;
};

class judge {
public:
    explicit judge(const named_subject& x) : whole_{x}, simulated_{dv::ir::view(x.whole.graph), x.whole.options} {}

    // What is wrong with the plan as it is.
    std::string fault() {
        const dv::plan::verdict found = whole_.whole.all();
        if (!found) return std::string("refused: ") + name_of(found.what);
        return simulated_.fault_of(dv::ir::view(whole_.whole.program), dv::ir::view(whole_.whole.plan), 1);
    }
    // Whether the prover takes harm for none.
    template <class Name>
    bool unnoticed(const subject& s, counts& sum, Name name) {
        ++sum.changed;
        const bool taken = s.compiles();
        if (taken != static_cast<bool>(s.all())) return say(name(), "the order by itself says otherwise");
        sum.refused += !taken;
        if (!taken) return false;
        std::string harm;
        try {
            harm = simulated_.fault_of(dv::ir::view(s.program), dv::ir::view(s.plan), static_cast<word>(sum.changed), 3);
        } catch (const std::exception& e) {
            harm = e.what();
        }
        return !harm.empty() && say(name(), harm);
    }

private:
    bool say(const std::string& name, const std::string& harm) const {
        std::printf("%s: %s: %s\n", whole_.name.c_str(), name.c_str(), harm.c_str());
        return true;
    }

    const named_subject& whole_;
    simulated_graph simulated_;
};

struct extent {
    int share = 100;  // per cent of the changes of one field
    int singles = 0;  // or so many, drawn
    int pairs = 0;
    bool damages = true;
};

class run {
public:
    long harm = 0, plans = 0;
    std::map<std::string, counts> by_field;
    counts pairs, damaged;

    void operator()(const named_subject& x, const extent& how, chooser& r) {
        judge j{x};
        ++plans;
        if (const std::string fault = j.fault(); !fault.empty()) {
            std::printf("%s: %s\n", x.name.c_str(), fault.c_str());
            ++harm;
            return;
        }
        const auto judged = [&](const changes& c, counts& sum) {
            subject s = x.whole;
            apply(s, c);
            harm += j.unnoticed(s, sum, [&] { return name_of(x.whole, c); });
        };
        if (how.singles == 0)
            each_change(x.whole, [&](const changes& c) {
                if (how.share == 100 || r.chance(how.share)) judged(c, by_field[fields[c[0].field].name]);
            });
        for (int i = 0; i < how.singles; ++i) {
            const change c = any_change(x.whole, r);
            judged({c}, by_field[fields[c.field].name]);
        }
        for (int i = 0; i < how.pairs; ++i) judged(any_pair(x.whole, r), pairs);
        for (const table& t : tables)
            for (const bool longer : {false, true}) {
                if (t.rows(x.whole) == 0) continue;
                subject s = x.whole;
                (longer ? t.lengthen : t.shorten)(s);
                harm += j.unnoticed(s, damaged, [&] { return std::string("another number of ") + t.name; });
            }
        for (const damage& d : damages)
            for (int site = 0; how.damages; ++site) {
                subject s = x.whole;
                if (!d.apply(s, site)) break;
                if (d.of_graph) continue;
                harm += j.unnoticed(s, damaged, [&] { return d.name + (" at site " + std::to_string(site)); });
            }
    }
};

}  // namespace

int main(int size, char** arguments) {
    const how_many many{200, size, arguments};
    int share = sanitized ? 1 : 10;
    const int pairs = sanitized ? 20 : 200;
    for (int i = 1; i + 1 < size; i += 2)
        if (std::string_view{arguments[i]} == "--share") share = static_cast<int>(std::strtol(arguments[i + 1], nullptr, 10));
    std::printf("seed %llu, %ld random graphs, %d per cent of the samples' fields\n", static_cast<unsigned long long>(many.seed),
                many.count, share);
    chooser r{mix(many.seed)};
    run all;
    for (const named_subject& x : hand_subjects()) all(x, {100, 0, pairs * 5 / 2, true}, r);
    for (const named_subject& x : sample_subjects()) all(x, {share, 0, pairs, share == 100}, r);
    for (long i = many.first(); i < many.last(); ++i)
        all(random_subject(many.seed, static_cast<int>(i), random_knobs(many.of(i))), {100, 100, 100, false}, r);
    const auto print = [](const char* what, const counts& sum) {
        std::printf("%-28s %9ld changes, %9ld refused, %9ld harmless\n", what, sum.changed, sum.refused, sum.changed - sum.refused);
    };
    counts single;
    for (const auto& [field, sum] : all.by_field) {
        print(field.c_str(), sum);
        single.changed += sum.changed, single.refused += sum.refused;
    }
    print("one field", single);
    print("two fields", all.pairs);
    print("more", all.damaged);
    std::printf("%ld plans, %ld changes do harm that the prover does not see\n", all.plans, all.harm);
    return all.harm == 0 && all.by_field.size() == std::size(fields) ? 0 : 1;
}
