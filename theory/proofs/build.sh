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

# 4. Every listed theorem is where the list says, and together they depend on nothing unproved.
names=$(grep -v '^#' ../theorems.txt | awk -F' [|] ' 'NF {sub(/\.v$/, "", $2); print "Burst." $2 "." $3}')
{
    echo "From Burst Require $(grep -v '^#' ../theorems.txt | awk -F' [|] ' 'NF {sub(/\.v$/, "", $2); print $2}' | sort -u | tr '\n' ' ')."
    echo "Definition listed := ("
    for name in $names; do echo "  @$name,"; done
    echo "  tt). Print Assumptions listed."
} > listed.v
coqc -q -R . Burst listed.v > listed.out 2>&1 || { cat listed.out; fail "theorems.txt names an unknown theorem"; }
[ "$(cat listed.out)" = "Closed under the global context" ] || { cat listed.out; fail "a listed theorem rests on the above"; }
echo "theory/proofs: $(echo "$names" | wc -w) theorems closed under the global context, $(echo "$files" | wc -w) files checked by coqchk" | tee verified
