import gpu
from gpu import lds, mfma

TILE = 64


@gpu.kernel
def gemm_f16(a, b, c, k):
    lane = gpu.lane() * 16
    acc = mfma.zeros(16, 16)
    n = k // TILE
    tile_a = a.load(lane)
    tile_b = b.load(lane)
    lds.store(0, tile_a)
    # one tile of k per step
    for step in range(n):
        lds.store(4096, tile_b)
        gpu.barrier()
        tile_b = b.load(lane + TILE)
        x = lds.load(0)
        y = lds.load(4096)
        x, y = gpu.pack(x, y)
        acc = mfma.f16(x, y, acc)
        lane = lane + TILE
    # softmax-like tail
    v = acc.read()
    v = gpu.exp(v)
    v = v + gpu.shuffle(v, lane)
    c.store(lane, v)
