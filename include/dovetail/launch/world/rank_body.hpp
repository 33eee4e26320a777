// A reference to the callable that world.run calls on every rank, as two pointers, so that worlds need not be templates.
#pragma once

namespace dovetail::launch {

template <class Rank>
class rank_body {
public:
    template <class Body>
    explicit rank_body(const Body& body) : body_{&body}, call_{[](const void* of, Rank& on) { (*static_cast<const Body*>(of))(on); }} {}

    void operator()(Rank& on) const { call_(body_, on); }

private:
    const void* body_;
    void (*call_)(const void*, Rank&);
};

}  // namespace dovetail::launch
