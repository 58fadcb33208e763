import gpu


@gpu.kernel
def add_one(
        x, y):
    i = gpu.thread_id() * 4
    a = x[i]
    b = a + 1.0
    y[i] = b
