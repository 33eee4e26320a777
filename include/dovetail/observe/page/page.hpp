// The page that html.hpp writes, from a title and the data `D` that the script draws, as JSON. The other headers of this folder are its
// fixed parts, in HTML, CSS and JavaScript.
#pragma once

#include "../format.hpp"
#include "controls.hpp"
#include "drawing.hpp"
#include "elements.hpp"
#include "graph_chart.hpp"
#include "memory_chart.hpp"
#include "pointers.hpp"
#include "stream_chart.hpp"
#include "style.hpp"

#include <string>

namespace dovetail::observe::detail {

inline constexpr const char* page_head = R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
)page";

inline std::string page_text(const std::string& title, const std::string& data) {
    std::string text =
        page_head + ("<title>" + html_text(title) + " - dovetail</title>\n<style>\n") + page_style + "</style>\n</head>\n<body>\n";
    text += page_elements + ("<script>\nconst D = " + data + ";\n");
    for (const char* part : {page_drawing, page_stream_chart, page_memory_chart, page_pointers, page_graph_chart, page_controls})
        text += part;
    return text + "</script>\n</body>\n</html>\n";
}

}  // namespace dovetail::observe::detail
