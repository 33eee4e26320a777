# What stands around the reference's dovetail_plan: the target `engine`, beside a header with the graph app::model.
cmake_minimum_required(VERSION 3.22)
project(engine LANGUAGES CXX)
find_package(dovetail REQUIRED)
add_executable(engine engine.cpp)
target_link_libraries(engine PRIVATE dovetail::dovetail)
include(readme_block)
