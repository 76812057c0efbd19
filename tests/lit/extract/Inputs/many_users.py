"""many_users.py FILE N: a kernel that uses N types, all of which N host functions use by way of one more type."""
import sys

count = int(sys.argv[2])
lines = [f"struct A{i} {{ int v; }};" for i in range(count)]
for name in "All", "Hub":
    lines.append(f"struct {name} {{ " + " ".join(f"A{i} a{i};" for i in range(count)) + " };")
lines += [f"int f{i}(Hub *h) {{ return h->a{i}.v; }}" for i in range(count)]
lines.append("__global__ void k(All *all) { all->a0.v = threadIdx.x; }")
lines.append("void run(All *all) { k<<<1, 32>>>(all); }")
open(sys.argv[1], "w").write("\n".join(lines) + "\n")
