"""The names that callers may rely on, pinned."""

import perfmodel

PUBLIC = {
    "Device",
    "__version__",
    "bank_conflicts",
    "coalescing",
    "device_names",
    "divergence",
    "ladder",
    "load_device",
    "occupancy",
    "predict",
    "predict_times",
    "roofline",
    "suggest_layout",
    "validate",
    "waves_per_simd",
}


def test_the_public_names_are_these() -> None:
    assert set(perfmodel.__all__) == PUBLIC
    assert set(dir(perfmodel)) == PUBLIC
    for name in PUBLIC:
        assert getattr(perfmodel, name) is not None


def test_a_name_stays_what_it_is_once_it_has_been_used() -> None:
    for name in PUBLIC - {"__version__"}:
        first = getattr(perfmodel, name)
        assert callable(first)
        assert getattr(perfmodel, name) is first


def test_another_name_is_an_attribute_error() -> None:
    assert not hasattr(perfmodel, "occupanci")
