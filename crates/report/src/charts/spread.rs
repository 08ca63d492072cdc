//! Labels that name the lines of a chart beside it, without lying on each other.

/// Spreads labels along one axis: each at least `gap` from the next, as near as it may be to where it belongs, and
/// within `low..=high` as far as they fit. Gives the positions in the order of `wanted`.
pub(super) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut positions = vec![0.0; wanted.len()];
    for group in groups(&order, wanted, gap) {
        let length = gap * (group.len() as f64 - 1.0);
        let middle = group.iter().map(|index| wanted[*index]).sum::<f64>() / group.len() as f64;
        let first = middle - length / 2.0;
        for (nth, index) in group.iter().enumerate() {
            positions[*index] = first + gap * nth as f64;
        }
    }
    push_inside(&order, &mut positions, gap, low, high);
    positions
}

/// Labels that touch move together, round the middle of their wishes. Groups that come to touch are joined.
fn groups(order: &[usize], wanted: &[f64], gap: f64) -> Vec<Vec<usize>> {
    let extent = |group: &[usize]| {
        let middle = group.iter().map(|index| wanted[*index]).sum::<f64>() / group.len() as f64;
        let half = gap * group.len() as f64 / 2.0;
        (middle - half, middle + half)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for index in order {
        groups.push(vec![*index]);
        while let [.., before, last] = groups.as_slice()
            && extent(before).1 > extent(last).0
        {
            let last = groups.pop().unwrap_or_default();
            if let Some(before) = groups.last_mut() {
                before.extend(last);
            }
        }
    }
    groups
}

/// Pushes labels from the top down, then from the bottom up. The second wins if they do not all fit.
fn push_inside(order: &[usize], positions: &mut [f64], gap: f64, low: f64, high: f64) {
    let mut least = low;
    for index in order {
        positions[*index] = positions[*index].max(least);
        least = positions[*index] + gap;
    }
    let mut most = high;
    for index in order.iter().rev() {
        positions[*index] = positions[*index].min(most);
        most = positions[*index] - gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_fit_stay_where_they_are() {
        assert_eq!(spread(&[10.0, 50.0, 30.0], 12.0, 0.0, 100.0), [10.0, 50.0, 30.0]);
    }

    #[test]
    fn labels_that_touch_part_evenly() {
        assert_eq!(spread(&[50.0, 52.0], 12.0, 0.0, 100.0), [45.0, 57.0]);
    }

    #[test]
    fn labels_stay_inside() {
        assert_eq!(spread(&[0.0, 1.0, 2.0], 10.0, 0.0, 100.0), [0.0, 10.0, 20.0]);
        assert_eq!(spread(&[99.0, 100.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
    }

    #[test]
    fn none_lie_on_each_other() {
        let wanted = [3.0, 3.0, 40.0, 41.0, 44.0, 90.0, 91.0, 3.5];
        let mut positions = spread(&wanted, 11.0, 0.0, 100.0);
        positions.sort_by(f64::total_cmp);
        assert!(positions.windows(2).all(|pair| pair[1] - pair[0] > 10.999), "{positions:?}");
    }
}
