"""The calibrated policy: how sure the judge must be for a false rate that the user accepts.

bound     how bad it may be, after so many mistakes in so many pairs
curve     what was right and wrong from each threshold on
record    the calibration of one model file, as JSON
band      from a calibration and a wished rate to thresholds
labels    labelled pairs: reading, writing, judging them as a run would
measure   from judged labels to a calibration
shelf     where calibrations lie
policy    from settings and a classifier to what `decide` is told
"""
