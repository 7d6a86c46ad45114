# Has LLVM's text count the operations that it executes, by kind; bench/instructions.sh --operations runs it.
#
#   awk -v names=yes -f operations.awk            the kinds, a line each
#   awk -f operations.awk FILE.ll >COUNTING.ll    each block adds to `qkm_kinds`, an array of 64 bits for each kind
#
# What is told apart, and what is none, because a GPU does not do it by itself: constants and places that are constant, words taken
# as something else, a value of fewer bits made longer or shorter without a sign, branches, phi. A product that one sum alone takes
# is one operation with it, where the text may; so is a shift whose result is masked from the lowest bit on, and a comparison with
# what it chooses. A place at a constant distance of another is no operation, also where the distance was added to the index.

BEGIN {
  words = "ffma fadd fmul half convert fspecial iadd iadd64 logic shift shift_by upper imul imul64 idivide compare select sign call" \
    " load_device load_local load_threadgroup load_constant store bytes_device bytes_local bytes_threadgroup bytes_constant"
  kinds = split(words, word, " ")
  for (i = 1; i <= kinds; ++i) {
    number[word[i]] = i - 1
    if (names) print word[i]
  }
  if (names) exit
}

# The first value that is called %... in `text`, without the sign; "" where there is none.
function first_value(text) {
  if (!match(text, /%[A-Za-z0-9._$-]+/)) return ""
  return substr(text, RSTART + 1, RLENGTH - 1)
}

# The operand after the last comma.
function last_operand(text, parts, n) {
  sub(/, *[!#].*$/, "", text)
  n = split(text, parts, ", ")
  return parts[n]
}

function lanes_of(text) { return match(text, /^<[0-9]+ x/) ? substr(text, 2, RLENGTH - 3) + 0 : 1 }

# Bytes of a type.
function size_of(type, n) {
  n = lanes_of(type)
  sub(/^<[0-9]+ x /, "", type)
  sub(/>.*/, "", type)
  if (type ~ /^i[0-9]+/) return n * int((substr(type, 2) + 7) / 8)
  if (type ~ /^half|^bfloat/) return 2 * n
  if (type ~ /^float/) return 4 * n
  return 8 * n
}

# Where a pointer leads: what it was made from, at most some steps back.
function place_of(pointer, steps, line) {
  for (steps = 0; steps < 60; ++steps) {
    if (pointer ~ /^@/) return pointer in shared ? "threadgroup" : pointer in constant ? "constant" : "device"
    sub(/^%/, "", pointer)
    if (!(pointer in made)) return "device"
    line = made[pointer]
    if (line ~ /^alloca/) return "local"
    if (line ~ /^getelementptr/) {
      if (!match(line, /ptr [%@][A-Za-z0-9._$-]+/)) return "device"
      pointer = substr(line, RSTART + 4, RLENGTH - 4)
    } else if (line ~ /^phi/) {
      if (!match(line, /\[ [%@][A-Za-z0-9._$-]+/)) return "device"
      pointer = substr(line, RSTART + 2, RLENGTH - 2)
      if (seen[pointer]++) return "device"
    } else if (line ~ /^select/) {
      if (!match(line, /ptr [%@][A-Za-z0-9._$-]+/)) return "device"
      pointer = substr(line, RSTART + 4, RLENGTH - 4)
    } else return "device"
  }
  return "device"
}

function add(kind, n) { if (n) count[number[kind]] += n }

# Whether `name` is a product that one sum alone takes.
function is_free_product(name) { return (name in made) && made[name] ~ /^fmul .*contract|^fmul (fast|contract)/ && uses[name] == 1 }

function addition(line, n, a, b, rest) {
  rest = line
  if (line ~ /contract|fast/) {
    a = first_value(rest)
    b = last_operand(rest)
    sub(/^%/, "", b)
    if (a != "" && is_free_product(a)) return add("ffma", n)
    if (is_free_product(b)) return add("ffma", n)
  }
  add("fadd", n)
}

function last_operand_name(line, a) {
  a = last_operand(line)
  sub(/^i[0-9]+ %/, "", a)
  return a
}

# Whether it is something plus a number, in 64 bits.
function is_moved(line) { return line ~ /^add (n[us]w )*i64 %[^,]*, -?[0-9]+/ }

function mask_is_low(text, v) {
  v = last_operand(text)
  if (v !~ /^[0-9]+$/) return 0
  for (v += 1; v > 1; v /= 2) if (v != int(v)) return 0
  return 1
}

# Counts the operation of a line without its name.
function operation(line, op, type, n, a, where, rest, at) {
  op = line
  sub(/ .*/, "", op)
  rest = substr(line, length(op) + 2)
  while (rest ~ /^(nuw|nsw|exact|fast|contract|nnan|ninf|nsz|arcp|afn|reassoc|inbounds|volatile) /) sub(/^[a-z]+ /, "", rest)
  type = rest
  n = lanes_of(type)
  if (op == "fmul") { if (!is_claimed[name]) add("fmul", n) }
  else if (op == "fadd" || op == "fsub") addition(line, n)
  else if (op == "fneg") return
  else if (op == "fdiv" || op == "frem") add("fspecial", n)
  else if (op == "fpext" || op == "fptrunc") add("half", n)
  else if (op ~ /^(sitofp|uitofp|fptosi|fptoui)$/) add("convert", n)
  else if (op == "add" && places[name] && places[name] == uses[name] && is_moved(line)) return
  else if (op == "add" || op == "sub") add(type ~ /^(<[0-9]+ x )?i64/ ? "iadd64" : "iadd", n)
  else if (op == "mul") add(type ~ /^(<[0-9]+ x )?i64/ ? "imul64" : "imul", n)
  else if (op ~ /^[us](div|rem)$/) add("idivide", n)
  else if (op == "and" || op == "or" || op == "xor") {
    a = first_value(rest)
    if (op == "and" && mask_is_low(rest) && (a in made) && made[a] ~ /^lshr .*, [0-9]+$/ && made[a] !~ /, 16$/ && uses[a] == 1) return
    add("logic", n)
  } else if (op == "shl" || op == "lshr" || op == "ashr") {
    a = last_operand(rest)
    if (op == "lshr" && a == "16" && type ~ /^i32/) add("upper", n)
    else add(a ~ /^-?[0-9]+$/ || a ~ /^</ ? "shift" : "shift_by", n)
  } else if (op == "icmp" || op == "fcmp") add("compare", n)
  else if (op == "select") {
    match(rest, /i1 %[A-Za-z0-9._$-]+/)
    a = substr(rest, RSTART + 4, RLENGTH - 4)
    if (!((a in made) && made[a] ~ /^[if]cmp/ && uses[a] == 1)) add("select", 1)
  } else if (op == "sext") { if (rest !~ /^i1 / && rest !~ / to i64/) add("sign", n) }
  else if (op == "getelementptr") {
    sub(/^[^,]*, /, "", rest)
    match(rest, /^ptr [^,]*/)
    where = substr(rest, 1, RLENGTH)
    a = first_value(substr(rest, RLENGTH + 1))
    if (a == "") return
    if ((a in made) && is_moved(made[a])) a = first_value(made[a])
    if (!found[where, a]++) add("iadd", 1)
  } else if (op == "load" || op == "store") {
    match(rest, /ptr [%@][A-Za-z0-9._$-]+/)
    a = RSTART ? substr(rest, RSTART + 4, RLENGTH - 4) : "?"
    if (op == "store") return add("store", 1)
    split("", seen)
    where = place_of(a)
    add("load_" where, 1)
    add("bytes_" where, size_of(rest))
  } else if (op ~ /^(tail|musttail|notail|call)$/) {
    at = index(line, "@")
    if (!at) return add("call", 1)
    a = substr(line, at + 1)
    sub(/\(.*/, "", a)
    if (a ~ /^llvm\.(lifetime|assume|dbg|experimental)/) return
    n = match(a, /\.v[0-9]+[a-z]/) ? substr(a, RSTART + 2, RLENGTH - 3) + 0 : 1
    if (a ~ /^llvm\.(fma|fmuladd)\./) add("ffma", n)
    else if (a ~ /^llvm\.[us](min|max)\./ || a ~ /^llvm\.(minnum|maxnum|abs|minimum|maximum)\./) add("compare", n)
    else if (a ~ /^llvm\.(fabs|copysign)\./) return
    else if (a ~ /^llvm\.fsh[lr]\./) add("shift_by", 2 * n)
    else if (a ~ /^llvm\.(bswap|bitreverse|ctlz|cttz|ctpop)\./) add("shift", n)
    else if (a ~ /^llvm\.(exp|log|sqrt|floor|ceil|rint|trunc|round)/) add("fspecial", n)
    else if (a ~ /^llvm\.memcpy|^llvm\.memset|^llvm\.memmove/) add("store", 1)
    else add("call", 1)
  }
}

# What a block executed, added before its first operation that is no phi.
function flush_counts(k, at) {
  for (k = 0; k < kinds; ++k) {
    if (!count[k]) continue
    ++serial
    at = "getelementptr inbounds ([" kinds " x i64], ptr @qkm_kinds, i64 0, i64 " k ")"
    counted = counted "  %qkm.a" serial " = load i64, ptr " at "\n" \
      "  %qkm.b" serial " = add i64 %qkm.a" serial ", " count[k] "\n  store i64 %qkm.b" serial \
      ", ptr " at "\n"
  }
  split("", count)
}

function end_block() {
  if (block == "" && phis == "") return
  flush_counts()
  printf "%s%s%s", phis, counted, block
  phis = counted = block = ""
}

function end_function(i, line, body) {
  for (i = 1; i <= lines; ++i) {
    line = text[i]
    if (line ~ /^[A-Za-z0-9._$-]+:/) { end_block(); print line; continue }
    body = line
    sub(/^ +/, "", body)
    name = ""
    if (match(body, /^%[A-Za-z0-9._$-]+ = /)) {
      name = substr(body, 2, RLENGTH - 4)
      body = substr(body, RLENGTH + 1)
    }
    if (body ~ /^phi /) { phis = phis line "\n"; continue }
    operation(body)
    block = block line "\n"
  }
  end_block()
}

# Which values there are, how often each is used, and which products a sum takes.
function begin_function(i, body, name, rest, a, b) {
  split("", made)
  split("", uses)
  split("", places)
  split("", found)
  split("", is_claimed)
  for (i = 1; i <= lines; ++i) {
    body = text[i]
    sub(/^ +/, "", body)
    sub(/, ![a-z].*$/, "", body)
    if (match(body, /^%[A-Za-z0-9._$-]+ = /)) {
      name = substr(body, 2, RLENGTH - 4)
      body = substr(body, RLENGTH + 1)
      made[name] = body
    }
    rest = body
    if (body ~ /^getelementptr/) ++places[last_operand_name(body)]
    while (match(rest, /%[A-Za-z0-9._$-]+/)) {
      ++uses[substr(rest, RSTART + 1, RLENGTH - 1)]
      rest = substr(rest, RSTART + RLENGTH)
    }
  }
  for (i = 1; i <= lines; ++i) {
    body = text[i]
    sub(/^ +(%[A-Za-z0-9._$-]+ = )?/, "", body)
    if (body !~ /^f(add|sub) .*(contract|fast)/) continue
    sub(/, ![a-z].*$/, "", body)
    a = first_value(body)
    b = last_operand(body)
    sub(/^%/, "", b)
    if (a != "" && is_free_product(a)) is_claimed[a] = 1
    else if (is_free_product(b)) is_claimed[b] = 1
  }
}

/^@/ {
  name = $1
  if (/section "[^"]*threadgroup/) shared[name] = 1
  else if (/ constant /) constant[name] = 1
}

!inside && /^define / { inside = 1; lines = 0; print; next }
inside && /^}/ { begin_function(); end_function(); inside = 0; print; next }
inside { text[++lines] = $0; next }
{ print }

END { if (!names) printf "@qkm_kinds = external global [%d x i64]\n", kinds }
