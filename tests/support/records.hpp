// Records of the language made at run time, as dsl/describe.hpp makes them of types: expressions, statements and what is made of
// statements. They stay where they are as long as the pool lives.
#pragma once

#include <dovetail/dsl/record.hpp>

#include <deque>
#include <utility>
#include <vector>

namespace support {

namespace dv = dovetail;

class record_pool {
public:
    using record = dv::dsl::record;
    using word_kind = dv::dsl::word;
    using statement_record = dv::dsl::statement;  // the records of a statement where it stands

    const record* keep(record r) {
        records_.push_back(r);
        return &records_.back();
    }
    const record* composed(word_kind kind, std::vector<const record*> children, const dv::tag& id = dv::nameless,
                           const dv::operation* op = &dv::no_operation) {
        record r{kind, id};
        for (const record* c : children) r.mentions += c->mentions;
        r.child_count = static_cast<int>(children.size());
        lists_.push_back(std::move(children));
        r.children = lists_.back().data();
        r.op = op;
        return keep(r);
    }
    const record* name(const dv::tag& t) { return keep({word_kind::name, t}); }
    const record* numbered(word_kind kind, int number) {
        record r{kind};
        r.number = number;
        return keep(r);
    }
    const record* stating(word_kind kind, std::vector<statement_record> list) {
        record r{kind};
        for (const statement_record x : list) r.mentions += (*x)->mentions;
        r.child_count = static_cast<int>(list.size());
        statements_.push_back(std::move(list));
        r.statements = statements_.back().data();
        return keep(r);
    }
    statement_record stated(std::vector<const record*> records) {
        lists_.push_back(std::move(records));
        return lists_.back().data();
    }
    const record* tensor(const dv::tensor_type& type) {
        types_.push_back(type);
        record r{word_kind::tensor};
        r.type = &types_.back();
        return keep(r);
    }

private:
    std::deque<record> records_;
    std::deque<std::vector<const record*>> lists_;
    std::deque<std::vector<statement_record>> statements_;
    std::deque<dv::tensor_type> types_;
};

}  // namespace support
