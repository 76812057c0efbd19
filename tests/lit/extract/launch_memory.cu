// What each pointer that a launch passes points into: the same root and offset are the same pointer, however they are spelled.
// RUN: %kopt-extract %s --json -o %t -- | %python -c "import json,sys; [print(l['line'], l['grid'][0], *(p['root'] + '+' + (p['offset'] or '?') for p in l['pointers'])) for k in json.load(sys.stdin)['kernels'] for l in k['launches']]" | FileCheck %s

__global__ void k(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x]; }

struct View { const float *p; };
struct Both { const float *in; float *out; };
struct Kept {
  const float *p;
  explicit Kept(const float *given) : p(given) {}
};
struct Holder {
  float *p_;
  float *data() { return p_; }
  const float *data() const { return p_; }
  float *get() const { return p_; }
  operator float *() { return p_; }
  float *grow();
};
struct Opaque {
  float *data();
  float &operator[](int);
  operator float *() const;
};
struct Grid {
  int size;
  float values[64];
};
__device__ float memory[256];
static float *pool;
void fill(float **p);
int next();

void spelled(float *data, int n) {
  k<<<1, 1>>>((const float *)data, data);
  // CHECK: [[#@LINE-1]] 1 data+0 data+0
  k<<<1, 1>>>(&data[0], (data));
  // CHECK: [[#@LINE-1]] 1 data+0 data+0
  k<<<1, 1>>>(static_cast<const float *>(data + 2), reinterpret_cast<float *>((char *)data + 8));
  // CHECK: [[#@LINE-1]] 1 data+8 data+8
  k<<<1, 1>>>(&data[n] - 1, 3 + &*data);
  // CHECK: [[#@LINE-1]] 1 data+n * 4 + (0 - 4) data+12
  k<<<1, 1>>>(data + n * n / 2, data + next());
  // CHECK: [[#@LINE-1]] 1 data+((n * n) / 2) * 4 data+next() * 4
  k<<<1, 1>>>(nullptr, data);
  // CHECK: [[#@LINE-1]] 1 +? data+0
}

void throughLocals(float *data, float *other, int n, bool wide) {
  const float *copy = data;
  float *half = data + n, *&name = half;
  k<<<1, 1>>>(copy, half);
  // CHECK: [[#@LINE-1]] 1 data+0 data+n * 4
  k<<<1, 1>>>(half, name);
  // CHECK: [[#@LINE-1]] 1 data+n * 4 data+n * 4
  View view = {data};
  Both both{half, data}, same = both;
  Kept kept(data);
  k<<<1, 1>>>(view.p, same.out);
  // CHECK: [[#@LINE-1]] 1 data+0 data+0
  k<<<1, 1>>>(kept.p, both.out);
  // CHECK: [[#@LINE-1]] 1 data+0 data+0
  float *moving = data;
  moving += 2;
  k<<<1, 1>>>(moving, data);
  // CHECK: [[#@LINE-1]] 1 data+8 data+0
  const float *chosen = wide ? data : other;
  k<<<1, 1>>>(chosen, data);
  // CHECK: [[#@LINE-1]] 1 chosen+0 data+0
  const float *first = data, *again = data;
  data = other;
  k<<<1, 1>>>(first, data);
  // CHECK: [[#@LINE-1]] 1 data@entry+0 other+0
  k<<<1, 1>>>(first, const_cast<float *>(again));
  // CHECK: [[#@LINE-1]] 1 data@entry+0 data@entry+0
}

void changing(float *a, float *b, int n) {
  float *made;
  fill(&made);
  const float *tail = made + n;
  k<<<1, 1>>>(tail, made);
  // CHECK: [[#@LINE-1]] 1 made+n * 4 made+0
  const float *before = made;
  fill(&made);
  k<<<1, 1>>>(before, made);
  // CHECK: [[#@LINE-1]] 1 made@[[#]]:[[#]]+0 made+0
  for (int i = 0; i < n; ++i) {
    k<<<1, 1>>>(a, b);
    // CHECK: [[#@LINE-1]] 1 a+0 b+0
    float *c = a;
    a = b;
    b = c;
    k<<<1, 1>>>(a + i, a);
    // CHECK: [[#@LINE-1]] 1 [[B:b@[0-9:]+]]+i * 4 [[B]]+0
  }
}

void objects(Holder &holder, Opaque &opaque, const Holder *far, Grid *grid, float **rows, int i) {
  k<<<1, 1>>>(holder.data(), holder.get() + 1);
  // CHECK: [[#@LINE-1]] 1 holder.p_+0 holder.p_+4
  const float *in = holder.get();
  float *out = holder.data();
  k<<<1, 1>>>(in, holder);
  // CHECK: [[#@LINE-1]] 1 holder.p_+0 holder.p_+0
  holder.grow();
  k<<<1, 1>>>(out, holder.data());
  // CHECK: [[#@LINE-1]] 1 holder.p_@[[#]]:[[#]]+0 holder.p_+0
  k<<<1, 1>>>(opaque.data(), opaque.data() + 1);
  // CHECK: [[#@LINE-1]] 1 opaque.data()+0 opaque.data()+4
  k<<<1, 1>>>(&opaque[i], opaque);
  // CHECK: [[#@LINE-1]] 1 opaque.data()+i * 4 opaque.operator *()+0
  k<<<1, 1>>>(far->p_, far->get());
  // CHECK: [[#@LINE-1]] 1 far->p_+0 far->p_+0
  k<<<1, 1>>>(grid->values, &grid->values[2]);
  // CHECK: [[#@LINE-1]] 1 grid+4 grid+12
  const float *row = rows[i];
  k<<<1, 1>>>(row, rows[i]);
  // CHECK: [[#@LINE-1]] 1 rows[i]+0 rows[i]+0
  ++i;
  k<<<1, 1>>>(row, rows[i]);
  // CHECK: [[#@LINE-1]] 1 rows[i]@[[#]]:[[#]]+0 rows[i]+0
  k<<<1, 1>>>(memory, &memory[3]);
  // CHECK: [[#@LINE-1]] 1 &memory+0 &memory+12
  const float *pooled = pool;
  k<<<1, 1>>>(pooled, pool + 1);
  // CHECK: [[#@LINE-1]] 1 pool+0 pool+4
  next();
  k<<<1, 1>>>(pooled, pool);
  // CHECK: [[#@LINE-1]] 1 pool@[[#]]:[[#]]+0 pool+0
}

// The elements of a pack have one name and are not one pointer.
template <class... Args> void spread(Args... args) { k<<<1, 1>>>(args...); }
void use(float *a, float *b) {
  spread(a, b);
  // CHECK: [[#@LINE-3]] 1 args+0 args#2+0
  void *args[] = {&a, &a};
  cudaLaunchKernel((const void *)k, dim3(1), dim3(1), args, 0, nullptr);
  // CHECK: [[#@LINE-1]] 1 a+0 a+0
}
