"""What an image adds to its base as a registry would hold it: each layer compressed by gzip at its default level."""

from __future__ import annotations

import json
import tarfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.container.engine import Engine

_LEVEL = 6  # what `docker push` and gzip take where they are not told
_CHUNK = 1 << 20


def compressed_bytes(engine: Engine, folder: Path, *tags: str) -> Mapping[str, int]:
    """Save images into a folder and compress every layer, those they share once.

    Returns:
        The bytes of each image's compressed layers, by tag; without those that the first tag has, which is their base.
    """
    saved = folder / "images.tar"
    done = engine.docker("save", "--output", str(saved), *tags)
    assert done.code == 0, done.said
    with tarfile.open(saved) as archive:
        file = archive.extractfile("manifest.json")
        assert file is not None
        images = {image["RepoTags"][0]: image["Layers"] for image in json.load(file)}
    layers = sorted({layer for its in images.values() for layer in its})
    with ThreadPoolExecutor() as pool:
        sizes = dict(zip(layers, pool.map(lambda layer: _compressed(saved, layer), layers), strict=True))
    saved.unlink()
    below = len(images[tags[0]])  # a layer has another name where it is an image's last one
    return {tag: sum(sizes[layer] for layer in its[below:]) for tag, its in images.items()}


def _compressed(saved: Path, layer: str) -> int:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, wbits=31)
    size = 0
    with tarfile.open(saved) as archive:
        file = archive.extractfile(layer)
        assert file is not None
        while chunk := file.read(_CHUNK):
            size += len(packer.compress(chunk))
    return size + len(packer.flush())
