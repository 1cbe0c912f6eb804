#!/bin/sh
# Build every proof in this folder, re-check the compiled proofs with coqchk, and
# fail on anything left unproved.  Products go to _build/.
set -eu
cd "$(dirname "$0")"

fail() { echo "theory/proofs: $1" >&2; exit 1; }

# 1. No unproved statement and no switched-off check in the sources.
forbidden='Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|Conjectures|give_up|bypass_check|Guard Checking|Positivity Checking|Universe Checking'
if grep -nEw "$forbidden" ./*.v; then fail "forbidden word above: prove the statement or remove it"; fi

# 2. Compile in dependency order.
mkdir -p _build
rm -f _build/*
cp ./*.v _build/
cd _build
files=$(coqdep -sort -R . Burst ./*.v)
for f in $files; do coqc -q -R . Burst "$f" > "${f%.v}.out" || { cat "${f%.v}.out"; fail "$f does not compile"; }; done

# 3. The independent checker accepts every file and finds no axiom.  The standard
# library itself is taken as checked; the seven names of its ssrunder module are
# fields of a sealed module that the checker lists when it does not open it.
modules=$(for f in $files; do b=${f#./}; echo "-norec Burst.${b%.v}"; done)
# shellcheck disable=SC2086
coqchk -silent -o -R . Burst $modules > coqchk.log 2>&1 || { cat coqchk.log; fail "coqchk rejects a file"; }
grep -q '^\* Axioms:' coqchk.log || { cat coqchk.log; fail "coqchk gives no summary"; }
sed '1,/^\* Axioms:/d' coqchk.log | grep -v 'Coq\.ssr\.ssrunder\.Under_rel\.' | grep -E '^    ' > axioms.log || true
[ ! -s axioms.log ] || { cat axioms.log; fail "coqchk finds the axioms above"; }
[ "$(grep -c ': <none>$' coqchk.log)" -ge 3 ] || { cat coqchk.log; fail "coqchk finds an unsafe definition"; }

# 4. Every listed theorem exists in the file named and depends on nothing unproved.
{
    echo "From Burst Require $(cd ..; grep -v '^#' theorems.txt | awk -F' [|] ' 'NF {print $2}' | sed 's/\.v$//' | sort -u | tr '\n' ' ')."
    grep -v '^#' ../theorems.txt | awk -F' [|] ' 'NF {sub(/\.v$/, "", $2); printf "Print Assumptions Burst.%s.%s.\n", $2, $3}'
} > listed.v
listed=$(grep -c '^Print' listed.v)
coqc -q -R . Burst listed.v > listed.out 2>&1 || { cat listed.out; fail "theorems.txt names an unknown theorem"; }
closed=$(grep -c '^Closed under the global context$' listed.out || true)
[ "$listed" -eq "$closed" ] || { cat listed.out; fail "only $closed of $listed listed theorems are closed"; }
echo "theory/proofs: $listed theorems closed under the global context, $(echo "$files" | wc -w) files checked by coqchk"
