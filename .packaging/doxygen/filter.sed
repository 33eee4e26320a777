# What Doxygen reads of a header: comments get three slashes, the first one is the file's, indented lines are shown as they stand, and a
# comment behind a member is the member's.
1{
  /^\/\//i\
/// @file
}
:line
/^ *\/\/   /{
  s,^\( *\)//,\1/// @code{.unparsed}\n\1///,
  :block
  n
  /^ *\/\/   /{
    s,//,///,
    b block
  }
  i\
/// @endcode
  b line
}
/^[^"/]*[;,] \+\/\/ /{
  s,//,///<,
  :behind
  n
  /^ \{20,\}\/\/ /{
    s,//,///<,
    b behind
  }
  b line
}
s,^\( *\)//\( \|$\),\1///\2,
