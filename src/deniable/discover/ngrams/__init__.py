"""N-grams: common pieces at each place, pairs of them, cliques of pairs, then a test [FPE16]."""
