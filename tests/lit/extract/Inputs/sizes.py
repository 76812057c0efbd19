"""Prints what the extraction says of each kernel's sizes."""
import json
import sys

for kernel in json.load(sys.stdin)["kernels"]:
    sizes = kernel["sizes"]
    print(f"{kernel['name']}: {'guarded' if sizes['guards_threads'] else 'not guarded'}"
          f"{', reads blockDim' if sizes['reads_block_dim'] else ''}")
    for use in sizes["uses"]:
        said = [word for word in ("in_kernel", "in_other_kernels", "steps", "across_blocks", "tiles") if use[word]]
        print(f"  {use['name']}: {' '.join(said)}; {use['other_use'] or 'no other use'}")
    for name in ("requirements", "kept", "shared_bytes"):
        for text in sizes[name]:
            print(f"  {name}: {text}")
