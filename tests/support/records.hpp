// Descriptors of the language made at run time, like those that dsl/describe.hpp makes of types: expressions, statements, and types that
// consist of statements. Their addresses are stable as long as the pool lives.
#pragma once

#include <dovetail/dsl/descriptor.hpp>

#include <deque>
#include <utility>
#include <vector>

namespace support {

namespace dv = dovetail;

class record_pool {
public:
    using descriptor = dv::dsl::descriptor;
    using keyword = dv::dsl::keyword;
    using statement_descriptor = dv::dsl::statement;  // the records of a statement where it stands

    const descriptor* keep(descriptor r) {
        records_.push_back(r);
        return &records_.back();
    }
    const descriptor* composed(keyword kind, std::vector<const descriptor*> children, const dv::tag& id = dv::nameless,
                           const dv::operation* op = &dv::no_operation) {
        descriptor r{kind, id};
        for (const descriptor* c : children) r.positions += c->positions;
        r.child_count = static_cast<int>(children.size());
        lists_.push_back(std::move(children));
        r.children = lists_.back().data();
        r.op = op;
        return keep(r);
    }
    const descriptor* name(const dv::tag& t) { return keep({keyword::name, t}); }
    const descriptor* numbered(keyword kind, int number) {
        descriptor r{kind};
        r.number = number;
        return keep(r);
    }
    const descriptor* stating(keyword kind, std::vector<statement_descriptor> list) {
        descriptor r{kind};
        for (const statement_descriptor x : list) r.positions += (*x)->positions;
        r.child_count = static_cast<int>(list.size());
        statements_.push_back(std::move(list));
        r.statements = statements_.back().data();
        return keep(r);
    }
    statement_descriptor stated(std::vector<const descriptor*> records) {
        lists_.push_back(std::move(records));
        return lists_.back().data();
    }
    const descriptor* tensor(const dv::tensor_type& type) {
        types_.push_back(type);
        descriptor r{keyword::tensor};
        r.type = &types_.back();
        return keep(r);
    }

private:
    std::deque<descriptor> records_;
    std::deque<std::vector<const descriptor*>> lists_;
    std::deque<std::vector<statement_descriptor>> statements_;
    std::deque<dv::tensor_type> types_;
};

}  // namespace support
