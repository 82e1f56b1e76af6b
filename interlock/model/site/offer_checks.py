"""Flavours, images, storage, controllers, prices: names that exist and numbers that can be read."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from interlock.hardware import PRICE_ITEMS, STORAGE_CLASSES
from interlock.model.text.errors import Code
from interlock.model.text.source import KEY
from interlock.model.text.values import shown
from interlock.resources.storage import DRIVER_HANDLES_SHARE_SERVERS

from .offers_file import ShareTypeFile
from .places import Path
from .terms import CURRENCY
from .values import is_price
from .view import SiteView

#: What shares are mounted by.
SHARES_BY = "NFS"
_CURRENCY = re.compile("[A-Z]{3}")


def check_offers(view: SiteView) -> None:
    """Adds faults of what the site offers."""
    _check_controller(view)
    _check_defaults(view)
    _check_images(view)
    _check_storage(view)
    _check_prices(view)


def _check_controller(view: SiteView) -> None:
    file, controller = view.file, view.file.controller
    if controller is None:
        return
    infra = [name for name, flavor in file.flavors.items() if flavor.role == "infra"]
    view.need(("controller", "flavor"), "an infra flavour", controller.flavor, infra, "flavors")
    view.need(("controller", "image"), "an image", controller.image, file.images, "images")


def _check_defaults(view: SiteView) -> None:
    file, defaults = view.file, view.file.tenant_defaults
    poplar = [name for name, flavor in file.flavors.items() if flavor.role == "poplar"]
    for key, name, what, known in (
        ("flavor", defaults.flavor, "a poplar flavour", poplar),
        ("image", defaults.image, "an image", list(file.images)),
        ("volume_type", defaults.volume_type, "a volume type", file.volume_types),
        ("share_type", defaults.share_type, "a share type", list(file.share_types)),
    ):
        if name is not None:
            view.need(("tenant_defaults", key), what, name, known, f"{key}s")


def _check_images(view: SiteView) -> None:
    for name, image in view.file.images.items():
        parts = PurePosixPath(image.file)
        if parts.is_absolute() or ".." in parts.parts:
            hint = "images are read from below it, so that a checkout is whole"
            message = f"`{image.file}` leads out of the site's folder"
            view.faults.add(Code.VALUE, ("images", name, "file"), message, hint)
        for key in ("os", "kernel"):
            if getattr(image.properties, key) is not None and getattr(image.software, key) is not None:
                message = f"image `{name}` states its {key} under `properties`, too"
                view.faults.add(Code.TWICE, ("images", name, "software", key), message, "state it in one place")


def _check_storage(view: SiteView) -> None:
    seen = set[str]()
    for index, name in enumerate(view.file.volume_types):
        if name in seen:
            view.faults.add(Code.TWICE, ("volume_types", index), f"`{name}` is there twice")
        seen.add(name)
    for name in view.file.volume_encryption:
        message = f"`{name}` is no volume type of this site"
        path: Path = ("volume_encryption", name, KEY)
        view.faults.need_name(path, name, view.file.volume_types, message, of=("volume_types",))
    for name, share_type in view.file.share_types.items():
        _check_share_type(view, name, share_type)


def _check_share_type(view: SiteView, name: str, share_type: ShareTypeFile) -> None:
    found, path = share_type.storage_class, ("share_types", name, "storage_class")
    view.faults.need_name(path, found, STORAGE_CLASSES, f"`{found}` is no class of storage in the catalogue")
    known = STORAGE_CLASSES.get(found)
    if known is not None and known.protocol != SHARES_BY:
        hint = f"of the catalogue these are: {', '.join(_mounted())}"
        message = f"`{found}` is used by {known.protocol}, and shares are mounted by {SHARES_BY}"
        view.faults.add(Code.CONTRADICTION, path, message, hint)
    if DRIVER_HANDLES_SHARE_SERVERS in share_type.extra_specs:
        hint = "take it out: it is False for every share type, as the appliance has an address for each storage network"
        message = f"`{DRIVER_HANDLES_SHARE_SERVERS}` is not the site's to state"
        view.faults.add(
            Code.VALUE, ("share_types", name, "extra_specs", DRIVER_HANDLES_SHARE_SERVERS, KEY), message, hint
        )
    seen = set[str]()
    for index, option in enumerate(share_type.mount_options or ()):
        word = option.partition("=")[0]
        if word in seen:
            where = ("share_types", name, "mount_options", index)
            view.faults.add(Code.TWICE, where, f"`{word}` is there twice")
        seen.add(word)


def _mounted() -> list[str]:
    return [name for name, item in STORAGE_CLASSES.items() if item.protocol == SHARES_BY]


def _check_prices(view: SiteView) -> None:
    prices = view.file.prices
    if prices is None:
        return
    if CURRENCY not in prices:
        view.faults.add(Code.MISSING_KEY, ("prices",), f"`{CURRENCY}` is missing", "add it here, as in `currency: EUR`")
    for item, text in prices.items():
        _check_price(view, ("prices", item), item, text)


def _check_price(view: SiteView, path: Path, item: str, text: str) -> None:
    if item == CURRENCY:
        if not _CURRENCY.fullmatch(text):
            hint = "write the three letters of ISO 4217, as in EUR"
            view.faults.add(Code.VALUE, path, f"{shown(text)} is no currency", hint)
        return
    message = f"`{item}` is nothing that has a price"
    view.faults.need_name((*path, KEY), item, PRICE_ITEMS, message)
    if not is_price(text):
        hint = 'write a decimal number not below 0, as in "1.90", without a currency'
        view.faults.add(Code.VALUE, path, f"{shown(text)} is no price", hint)
