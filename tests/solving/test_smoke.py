import quadsweep as qs


def test_drops_the_one_point_off_the_line():
    result = qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1)
    assert result.outliers.tolist() == [2]
    assert result.success
