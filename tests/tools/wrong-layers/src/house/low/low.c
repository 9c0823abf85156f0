int wrong_high(int number);
int wrong_low(int number);

int wrong_low(int number)
{
    return wrong_high(number) + 1;
}
