"""Densities, tails and quantiles are those of scipy.stats, which starts too slowly to be used."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from deniable import _distributions as ours
from deniable.audit.hypotheses import proportion

X = np.array([-40.0, -8.0, -1.0, 0.0, 0.3, 1.0, 6.0, 38.0])
P = np.array([1e-300, 1e-12, 0.01, 0.5, 0.9, 1 - 1e-12])
DEGREES = (1, 2, 3.5, 30, 1e6)


def near(found: object, wanted: object, rel: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=rel, atol=1e-320)


def test_the_normal_distribution() -> None:
    near(ours.normal_cdf(X), stats.norm.cdf(X))
    near(ours.normal_sf(X), stats.norm.sf(X))
    near(ours.normal_pdf(X), stats.norm.pdf(X))
    near(ours.normal_ppf(P), stats.norm.ppf(P))
    near(ours.normal_isf(P), stats.norm.isf(P))


@pytest.mark.parametrize("degrees", DEGREES)
def test_t_chi_square_and_f(degrees: float) -> None:
    near(ours.t_sf(X, degrees), stats.t.sf(X, degrees))
    near(ours.t_isf(P[1:5], degrees), stats.t.isf(P[1:5], degrees), 1e-9)
    near(ours.chi2_sf(X, degrees), stats.chi2.sf(X, degrees))
    near(ours.f_sf(X, 3, degrees), stats.f.sf(X, 3, degrees))


@pytest.mark.parametrize("n", [0, 1, 20, 1_000, 10**6])
@pytest.mark.parametrize("p", [0.0, 1e-9, 0.3, 0.5, 1.0])
def test_the_binomial_distribution(n: int, p: float) -> None:
    k = np.unique(np.clip([-1, 0, 1, n * p - 9, n * p, n * p + 9, n - 1, n, n + 1], -1, n + 1)) // 1
    near(ours.binomial_pmf(k, n, p), stats.binom.pmf(k, n, p), 1e-8)
    near(ours.binomial_cdf(k, n, p), stats.binom.cdf(k, n, p), 1e-9)
    near(ours.binomial_sf(k, n, p), stats.binom.sf(k, n, p), 1e-9)
    for tail in (1e-12, 0.05, 0.7):
        least = ours.binomial_isf(tail, n, p)
        assert stats.binom.sf(least, n, p) <= tail * (1 + 1e-9)
        assert least == 0 or stats.binom.sf(least - 1, n, p) > tail * (1 - 1e-9)


def test_beta_and_poisson() -> None:
    near(ours.beta_ppf(P[1:5], 3, 98), stats.beta.ppf(P[1:5], 3, 98), 1e-9)
    k = np.array([-1, 0, 1, 5, 200])
    for mean in (0.0, 1e-6, 3.0, 150.0):
        near(ours.poisson_sf(k, mean), stats.poisson.sf(k, mean))


def test_no_command_imports_scipy_stats() -> None:
    code = (
        "import sys, pkgutil, importlib, deniable\n"
        "for module in pkgutil.walk_packages(deniable.__path__, 'deniable.'):\n"
        "    if '.testing' not in module.name and '__main__' not in module.name:\n"
        "        importlib.import_module(module.name)\n"
        "assert 'scipy.stats' not in sys.modules, 'scipy.stats'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("n", [1, 2, 20, 1_000, 100_000])
@pytest.mark.parametrize("p", [0.0, 1e-5, 0.3, 0.5, 0.9, 1.0])
def test_the_exact_test_of_a_proportion_is_scipys(n: int, p: float) -> None:
    near_mean = {round(n * p + d * (n * p * (1 - p)) ** 0.5) for d in (-6, -2, -0.5, 0, 1, 3, 8)}
    for k in {0, n, *near_mean} & set(range(n + 1)):
        wanted = stats.binomtest(k, n, p).pvalue
        assert proportion(k, n, p).p_value == pytest.approx(wanted, rel=1e-6, abs=1e-300), (k, n, p)
