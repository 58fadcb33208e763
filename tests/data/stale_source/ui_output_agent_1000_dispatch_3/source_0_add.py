import gpu


@gpu.kernel
def add_one(
        x, y):
