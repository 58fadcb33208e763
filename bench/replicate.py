# SPDX-License-Identifier: Apache-2.0
"""Makes a large ui_output directory out of a small one: copies of its waves under further shader engines.

usage: bench/replicate.py SOURCE TARGET COPIES

Every file stays a valid capture: the manifest lists all copies and the totals of code.json are scaled with them. With a
share below 1 each wave keeps that part of its records, the first ones.
"""
import json
import os
import sys


def shortened(text, share):
    """A wave file with the first records of its tables."""
    data = json.loads(text)
    for table in ("instructions", "timeline", "waitcnt"):
        rows = data["wave"][table]
        del rows[max(1, round(len(rows) * share)):]
    data["num_insts"] = data["num_stitched"] = len(data["wave"]["instructions"])
    return json.dumps(data, separators=(",", ":"))


def replicate(source, target, copies, share=1):
    """Returns the bytes of wave files written."""
    os.makedirs(target)
    with open(os.path.join(source, "filenames.json")) as f:
        manifest = json.load(f)
    with open(os.path.join(source, "code.json")) as f:
        code = json.load(f)
    for row in code["code"]:
        for column in (6, 7, 8, 9):
            row[column] *= copies
    listed, size = {}, 0
    ses = sorted(int(se) for se in manifest["wave_filenames"])
    step = max(ses) + 1
    for se in ses:
        for simd, slots in manifest["wave_filenames"][str(se)].items():
            for slot, waves in slots.items():
                for number, (name, begin, end) in waves.items():
                    with open(os.path.join(source, name)) as f:
                        text = f.read() if share >= 1 else shortened(f.read(), share)
                    for copy in range(copies):
                        new_se = se + copy * step
                        new_name = f"se{new_se}_sm{simd}_sl{slot}_wv{number}.json"
                        body = text.replace(f'"name":"SE{se}"', f'"name":"SE{new_se}"', 1)
                        with open(os.path.join(target, new_name), "w") as f:
                            f.write(body)
                        size += len(body)
                        place = listed.setdefault(str(new_se), {}).setdefault(simd, {}).setdefault(slot, {})
                        place[number] = [new_name, begin, end]
    manifest.update(wave_filenames=listed, synthetic=True)
    for name, value in (("filenames.json", manifest), ("code.json", code),
                        ("occupancy.json", {"dispatches": {}, "version": "3.0.0"})):
        with open(os.path.join(target, name), "w") as f:
            json.dump(value, f, separators=(",", ":"))
    return size


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: bench/replicate.py SOURCE TARGET COPIES")
    print(replicate(sys.argv[1], sys.argv[2], int(sys.argv[3])))
